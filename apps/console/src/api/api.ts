// The API client of the console. Every page uses it; nothing else sends requests.
import createClient from 'openapi-fetch'
import { currentSession, markExpired } from '../session/session.ts'
import { ApiError, errorOfResponse } from './apiError.ts'
import type { Paths } from './paths.ts'

const requestTimeoutMs = 60_000

/** The requests of the current session, typed by the API's document. Wrap them in `dataOf`. */
export const api = createClient<Paths>({ baseUrl: location.origin })

api.use({
  onRequest({ request }) {
    const { sessionId } = currentSession()
    const headers = new Headers(request.headers)
    // Without a session id, the cookie counts, and only together with this header.
    headers.set('X-Paylog-Console', '1')
    if (sessionId !== null) headers.set('X-Session-ID', sessionId)
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(requestTimeoutMs)])
    return new Request(request, { headers, signal, credentials: sessionId === null ? 'same-origin' : 'omit' })
  },
  onResponse({ request, response }) {
    // A response to a former session says nothing about the present one.
    const sent = request.headers.get('X-Session-ID')
    if (response.status === 401 && sent === currentSession().sessionId) markExpired()
  },
})

type FetchResult<Body> = { data?: Body; error?: unknown; response: Response }
export type Answer<Body> = { readonly body: Body; readonly etag: string | null; readonly isReplayed: boolean }

/**
 * @param request a call of `api`
 * @throws ApiError for every response that is not a success, and when there is none
 */
export async function answerOf<Body>(request: Promise<FetchResult<Body>>): Promise<Answer<Body>> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    const message = 'The API did not respond. Check the connection, then try again.'
    throw new ApiError({ status: 0, code: 'no_response', message, cause })
  })
  if (!response.ok || data === undefined) {
    throw errorOfResponse(response.status, error, response.headers.get('X-Request-Id'))
  }
  const isReplayed = response.headers.get('Idempotent-Replayed') === 'true'
  return { body: data, etag: response.headers.get('ETag'), isReplayed }
}

/** The body of a successful response. Errors as of `answerOf`. */
export async function bodyOf<Body>(request: Promise<FetchResult<Body>>): Promise<Body> {
  return (await answerOf(request)).body
}

/** The `data` of a successful response. Errors as of `answerOf`. */
export async function dataOf<Data>(request: Promise<FetchResult<{ data: Data }>>): Promise<Data> {
  return (await bodyOf(request)).data
}
