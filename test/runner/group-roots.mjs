/** The root test of each file of a group, by the URL of the file. */
export const roots = new Map()
