// Copied into dist as hot-path.cjs, where it stands for the chunks in hot-path.js. Compiling them is a third of what a
// warm run costs, so what V8 has compiled is kept beside the code (whoever can write there can change the code anyway)
// and used as long as the code, the Node version and the file itself are the same. Without it everything works, slower.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const filename = path.join(__dirname, 'hot-path.js');
const kept = path.join(__dirname, `hot-path-BUILD_ID-${process.version}-${process.arch}.bin`);
const CHECKSUM_BYTES = 32;

const script = compile();
script.runInThisContext()(exports, require, module, filename, __dirname);
if (script.isFresh && process.argv[2] === 'run') process.once('exit', keep);

function compile() {
  // The bundle is pure ASCII, which is read fastest this way.
  const source = `(function(exports,require,module,__filename,__dirname){${fs.readFileSync(filename, 'latin1')}\n})`;
  const cachedData = readKept();
  const compiled = new vm.Script(source, { filename, cachedData });
  compiled.isFresh = cachedData === undefined || compiled.cachedDataRejected === true;
  return compiled;
}

/** V8 believes what it is given: a damaged file must not get there. */
function readKept() {
  try {
    const bytes = fs.readFileSync(kept);
    const data = bytes.subarray(CHECKSUM_BYTES);
    return checksum(data).equals(bytes.subarray(0, CHECKSUM_BYTES)) ? data : undefined;
  } catch {
    // Not kept yet, or not readable: compiled anew.
    return undefined;
  }
}

function keep() {
  const temporary = `${kept}.${process.pid}.tmp`;
  try {
    const data = script.createCachedData();
    fs.writeFileSync(temporary, Buffer.concat([checksum(data), data]), { flag: 'wx' });
    fs.renameSync(temporary, kept);
  } catch {
    // A folder that we may not write to, or a full disk: the next run compiles again.
    fs.rmSync(temporary, { force: true });
  }
}

function checksum(data) {
  return require('node:crypto').createHash('sha256').update(data).digest();
}
