export function describeLoading (load: () => Promise<object>): Promise<unknown>
