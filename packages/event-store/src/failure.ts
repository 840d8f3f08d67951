// What a failed append means: the event is surely not there, surely cannot be, or nobody knows.
import { ErrorType, WrongExpectedVersionError } from '@eventstore/db-client'
import { DomainError } from '@paylog/domain/errors'

export type AppendFailure = 'conflict' | 'too_large' | 'refused' | 'unknown'

/** gRPC statuses that say that the request itself is wrong. */
const refusedCodes = new Set([3, 7, 12, 16])

/**
 * Classifies what an append rejected with. The client rejects with its own errors or with a plain gRPC error (only
 * `code` is set), and a rejection does not mean that nothing was written: whatever is not a clear answer is `unknown`.
 */
export function appendFailure(error: unknown): AppendFailure {
  if (error instanceof WrongExpectedVersionError) return 'conflict'
  if (error === null || typeof error !== 'object') return 'unknown'
  const type = 'type' in error ? error.type : undefined
  if (type === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED) return 'too_large'
  if (type === ErrorType.ACCESS_DENIED || type === ErrorType.STREAM_DELETED) return 'refused'
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'number' && refusedCodes.has(code) ? 'refused' : 'unknown'
}

/** A promise that gives up after `timeoutMs`: the client's batch append waits for ever when the server never answers. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} was not answered within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** What a caller is told when an append got no clear answer. */
export function unconfirmed(cause: unknown): DomainError {
  return new DomainError(
    'event_store_unavailable',
    'The event store did not confirm this; it may or may not be recorded',
    undefined,
    { cause },
  )
}

/** What a caller is told when the log said no: nothing was recorded. */
export function refusedByStore(cause: unknown): DomainError {
  return new DomainError('event_store_unavailable', 'The event store refused to record this', undefined, { cause })
}

/** What a caller is told when the log could not be read. */
export function unreadable(cause: unknown): DomainError {
  return new DomainError('event_store_unavailable', 'The event store cannot be read at the moment', undefined, {
    cause,
  })
}
