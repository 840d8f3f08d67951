/** The headers of every request to an endpoint, besides those of its message. */
export const contentHeaders = { 'content-type': 'application/json', 'user-agent': 'paylog-webhooks/1' } as const
