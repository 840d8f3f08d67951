// Requests pages of the log, and waits while the API is busy or the session has expired.
import { PaylogError } from '@paylog/client/errors'
import { api } from '../../api/api.ts'
import { isTemporary, isUnauthenticated } from '../../api/apiErrors.ts'
import { reasonHeader } from '../../parts/reason.tsx'
import { currentSession } from '../../session/session.ts'
import type { FetchPage } from './logPages.ts'

/** An export of many pages may wait for the rate limit, or for a restart. */
const maxRetries = 12
const pauseMs = 5_000
const signInPollMs = 500
const encoder = new TextEncoder()

/** @param reason why the log is read, for the audit trail */
export const pageFetcher =
  (reason: string): FetchPage =>
  async (query, signal) => {
    for (let retries = 0; ; retries++) {
      try {
        const { body, headers } = await api.exportEvents({ query, header: reasonHeader(reason), signal })
        // Every line is valid UTF-8, so the text has the same bytes. An empty page has no body.
        const bytes = encoder.encode(body ?? '')
        return { bytes, next: headers.get('x-next-position'), head: headers.get('x-log-head') }
      } catch (error) {
        signal.throwIfAborted()
        if (isUnauthenticated(error) && currentSession().isExpired) {
          await signedInAgain(signal)
          continue
        }
        if (!isTemporary(error) || retries >= maxRetries) throw error
        await pause(retryAfterMs(error), signal)
      }
    }
  }

/** A dialog asks for another session meanwhile. */
async function signedInAgain(signal: AbortSignal): Promise<void> {
  while (currentSession().isExpired) await pause(signInPollMs, signal)
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof PaylogError ? Number(error.headers.get('retry-after') ?? Number.NaN) : Number.NaN
  return Number.isNaN(seconds) ? pauseMs : Math.min(seconds, 60) * 1_000
}

/** @throws the reason of the signal when it is aborted first */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
  signal.throwIfAborted()
}
