import { describeProcesses } from '../contracts/run-process.js';

describeProcesses();
