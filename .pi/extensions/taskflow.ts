export { default } from '../../src/pi/extension.ts';
