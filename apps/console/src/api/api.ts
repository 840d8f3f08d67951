// The API client of the console. Every page uses it; nothing else sends requests to the API.
import { createPaylogClient } from '@paylog/client/client'
import { currentSession, markExpired } from '../session/session.ts'

/** The operations of the API in the present session. They throw what the client throws. */
export const api = createPaylogClient({
  baseUrl: location.origin,
  // React Query repeats reads. A write is repeated by the operator, who must see that its outcome is not known.
  maxRetries: 0,
  async fetch(request, init) {
    const { sessionId } = currentSession()
    const headers = new Headers(request.headers)
    // Without a session id the cookie counts, and only together with this header, which other origins cannot send.
    headers.set('X-Paylog-Console', '1')
    if (sessionId !== null) headers.set('X-Session-ID', sessionId)
    const credentials = sessionId === null ? 'same-origin' : 'omit'
    const response = await fetch(new Request(request, { headers, credentials }), init)
    // A response to a former session says nothing about the present one.
    if (response.status === 401 && sessionId === currentSession().sessionId) markExpired()
    return response
  },
})

/** The body of a response. */
export async function bodyOf<Body>(call: Promise<{ readonly body: Body }>): Promise<Body> {
  return (await call).body
}

/** The `data` of a response. */
export async function dataOf<Data>(call: Promise<{ readonly body: { readonly data: Data } }>): Promise<Data> {
  return (await call).body.data
}
