/** Put in by the bundler from package.json; absent when the sources run unbundled (unit tests). */
declare const TASKFLOW_VERSION: string | undefined;

export const VERSION: string = typeof TASKFLOW_VERSION === 'string' ? TASKFLOW_VERSION : '0.0.0-source';
