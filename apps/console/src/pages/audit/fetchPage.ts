// Requests pages of the log, and waits while the API is busy or the session has expired.

import { PaylogError } from '@paylog/client/errors'
import type { ExportPageRequest, FetchPage } from '@paylog/event-store/export/exportPages'
import { api } from '../../api/api.ts'
import { isTemporary, isUnauthenticated } from '../../api/apiErrors.ts'
import type { EventsQuery } from '../../api/apiTypes.ts'
import { pause } from '../../api/pause.ts'
import { reasonHeader } from '../../parts/reason.tsx'
import { currentSession } from '../../session/session.ts'

/** An export of many pages may wait for the rate limit, or for a restart. */
const maxRetries = 12
const pauseMs = 5_000
const signInPollMs = 500

/** @param reason why the log is read, for the audit trail */
export const pageFetcher =
  (reason: string): FetchPage =>
  async (request, signal) => {
    const query = queryOf(request)
    for (let retries = 0; ; retries++) {
      try {
        const { body, headers } = await api.exportEvents({ query, header: reasonHeader(reason), signal })
        // An empty page has no body.
        return { text: body ?? '', next: headers.get('x-next-position'), head: headers.get('x-log-head') }
      } catch (error) {
        signal.throwIfAborted()
        if (isUnauthenticated(error) && currentSession().isExpired) {
          await signedInAgain(signal)
          continue
        }
        if (!isTemporary(error) || retries >= maxRetries) throw error
        await pause(retryAfterMs(error), signal)
        signal.throwIfAborted()
      }
    }
  }

function queryOf({ filters, limit, ...place }: ExportPageRequest): EventsQuery {
  const given = Object.entries({ ...filters, ...place }).filter((entry): entry is [string, string] => entry[1] !== null)
  return { ...Object.fromEntries(given), limit }
}

/** A dialog asks for another session meanwhile. */
async function signedInAgain(signal: AbortSignal): Promise<void> {
  while (currentSession().isExpired) {
    await pause(signInPollMs, signal)
    signal.throwIfAborted()
  }
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof PaylogError ? Number(error.headers.get('retry-after') ?? Number.NaN) : Number.NaN
  return Number.isNaN(seconds) ? pauseMs : Math.min(seconds, 60) * 1_000
}
