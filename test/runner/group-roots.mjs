/** The files of the group. Taken from the arguments before tap names its fixtures after them. */
export const files = process.argv.splice(2)

/** The root test of each file, by the URL of the file. */
export const roots = new Map()
