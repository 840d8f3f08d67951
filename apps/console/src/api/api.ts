// The API client of the console. Every page uses it; nothing else sends requests to the API.
import { createPaylogClient } from '@paylog/client/client'
import { visibleText } from '@paylog/domain/visibleText'
import { currentSession, markExpired } from '../session/session.ts'

// React Query repeats reads, and the action store writes, which shows that their outcome is not known.
const options = { baseUrl: location.origin, maxRetries: 0 }

/**
 * The operations of the API in the present session. They throw what the client throws. Controls of the text direction in what
 * others wrote are visible, wherever it is shown.
 */
export const api = createPaylogClient({
  ...options,
  async fetch(request, init) {
    const response = await fetchInSession(request, init)
    // An export keeps its bytes.
    if (!response.headers.get('content-type')?.startsWith('application/json')) return response
    const text = await response.clone().text()
    const visible = visibleText(text)
    return visible === text ? response : new Response(visible, response)
  },
})

/** The same with texts exactly as they are, for what is computed from them. */
export const exactApi = createPaylogClient({ ...options, fetch: fetchInSession })

/** A request of the present session. */
export async function fetchInSession(request: Request, init?: RequestInit): Promise<Response> {
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
}

/** The body of a response. */
export async function bodyOf<Body>(call: Promise<{ readonly body: Body }>): Promise<Body> {
  return (await call).body
}

/** The `data` of a response. */
export async function dataOf<Data>(call: Promise<{ readonly body: { readonly data: Data } }>): Promise<Data> {
  return (await call).body.data
}
