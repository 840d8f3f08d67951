// Sends a request again when that is safe and may help.
import { PaylogConnectionError } from './errors.ts'

export type RetryOptions = {
  /** How often a request is sent again. */
  readonly maxRetries: number
  /** For each attempt, until its response is read. */
  readonly timeoutMs: number
  /** Leaves the body of a success to the caller: what breaks in it is not repeated. */
  readonly isStream?: boolean
}

export type Fetch = (request: Request, init?: RequestInit) => Promise<Response>

const firstPauseMs = 500
const maxPauseMs = 8_000
/** A longer Retry-After is left to the caller. */
const maxRetryAfterMs = 60_000

/**
 * A fetch that sends GET requests, and requests with an Idempotency-Key, again after a network error, a time-out, 408, 503 and 504;
 * after 429 with a Retry-After, which it waits for; and while an earlier attempt with the same key is still in progress (409).
 * The pauses double, with jitter. The signal of the request ends attempts and pauses.
 * @returns the last response, read completely unless it is a stream
 * @throws PaylogConnectionError when the last attempt had no response
 */
export function withRetries(fetch: Fetch, { maxRetries, timeoutMs, isStream = false }: RetryOptions): Fetch {
  async function attempt(request: Request): Promise<Response | PaylogConnectionError> {
    try {
      // biome-ignore lint/plugin: fetch listens to it, so that Node follows its sources.
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)])
      const response = await fetch(request.clone(), { signal })
      if (isStream && response.ok) return response
      // Read here, so that a connection that breaks in the body is retried too.
      const text = await response.text()
      const { status, statusText, headers } = response
      return new Response(text === '' ? null : text, { status, statusText, headers })
    } catch (error) {
      request.signal.throwIfAborted()
      return new PaylogConnectionError(error)
    }
  }

  return async (request) => {
    const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key')
    for (let retries = 0; ; retries++) {
      const result = await attempt(request)
      const pauseMs = isRepeatable && retries < maxRetries ? await pauseBeforeRetry(result, retries) : undefined
      if (pauseMs !== undefined) await pause(pauseMs, request.signal)
      else if (result instanceof PaylogConnectionError) throw result
      else return result
    }
  }
}

/** @returns undefined when a retry would not help */
async function pauseBeforeRetry(
  result: Response | PaylogConnectionError,
  retries: number,
): Promise<number | undefined> {
  const longestMs = Math.min(firstPauseMs * 2 ** retries, maxPauseMs)
  const backoffMs = longestMs * (0.5 + Math.random() / 2)
  if (result instanceof PaylogConnectionError) return backoffMs
  const retryAfterMs = Number(result.headers.get('retry-after') ?? Number.NaN) * 1_000
  if (retryAfterMs > maxRetryAfterMs) return undefined
  switch (result.status) {
    case 429:
      return Number.isNaN(retryAfterMs) ? undefined : retryAfterMs + backoffMs
    // It did not arrive in time, and nothing was done.
    case 408:
    case 503:
    case 504:
      return Math.max(backoffMs, retryAfterMs || 0)
    case 409:
      return (await result.clone().text()).includes('"idempotency_key_in_flight"') ? backoffMs : undefined
    default:
      return undefined
  }
}

/** @throws the reason of the signal when it is aborted first */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}
