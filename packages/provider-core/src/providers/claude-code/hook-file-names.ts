/** Name of the spool inside the session's private folder. */
export const SPOOL_FILE = 'spool.jsonl';
/** While this file stands and is not empty, the gate judges what is submitted. */
export const ARMED_FILE = 'gate-armed';
/** The text that was armed last, in the form the gate looks for. */
export const ARMED_TEXT_FILE = 'gate-text';
/** While this file stands, somebody answers permission requests through the `approvals` folder. */
export const APPROVER_FILE = 'approver';
/** Where permission requests wait for their answer, a folder each. */
export const APPROVALS_FOLDER = 'approvals';
/** In a request's folder: what the CLI asks. */
export const REQUEST_FILE = 'request.json';
/** In a request's folder: the answer, in the CLI's own words. */
export const ANSWER_FILE = 'answer.json';
