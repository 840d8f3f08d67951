// What a failure means: the event is surely not there, surely cannot be, or nobody knows.
import { ErrorType, WrongExpectedVersionError } from '@eventstore/db-client'
import { DomainError } from '@paylog/domain/errors'

export type AppendFailure = 'conflict' | 'too_large' | 'refused' | 'unknown'

/** gRPC statuses that say that the request itself is wrong. */
const permanentCodes = new Set([3, 7, 12, 16])
/** CANCELLED and UNAVAILABLE: after these the client starts afresh of its own accord. */
const recoverableCodes = new Set([1, 14])

/** The event store was given its time and stayed silent. */
export class ResponseTimeoutError extends Error {
  override readonly name = 'NoAnswerError'

  constructor(what: string, timeoutMs: number) {
    super(`${what} was not answered within ${timeoutMs} ms`)
  }
}

/**
 * Classifies what an append rejected with. The client rejects with its own errors or with a plain gRPC error (only
 * `code` is set), and a rejection does not mean that nothing was written: whatever is not a clear answer is `unknown`.
 */
export function appendFailure(error: unknown): AppendFailure {
  if (error instanceof WrongExpectedVersionError) return 'conflict'
  if (typeOf(error) === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED) return 'too_large'
  return isPermanentError(error) ? 'refused' : 'unknown'
}

/** Whether the answer was a clear no, so that asking again is useless. */
export function isPermanentError(error: unknown): boolean {
  const type = typeOf(error)
  if (type === ErrorType.ACCESS_DENIED || type === ErrorType.STREAM_DELETED) return true
  const code = codeOf(error)
  return code !== undefined && permanentCodes.has(code)
}

/**
 * Whether the client may be stuck for good. An error with a type of the client's own came over a stream that it opens
 * anew. Silence, or the plain error of asking what the server can do, may be kept for ever.
 */
export function mayBeStuck(error: unknown): boolean {
  const code = codeOf(error)
  return typeOf(error) === undefined && (code === undefined || !recoverableCodes.has(code))
}

function typeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined
}

function codeOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined
}

/**
 * Waits for work, but not for ever; a later outcome of the work is nobody's concern.
 * @throws NoAnswerError after `timeoutMs`, the signal's reason when it aborts, and whatever the work throws
 */
export async function withTimeout<T>(
  work: Promise<T>,
  timeoutMs: number,
  what: string,
  signal?: AbortSignal,
): Promise<T> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ResponseTimeoutError(what, timeoutMs)), timeoutMs)
  const abort = () => reject(signal?.reason)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await Promise.race([work, timedOut])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** What a caller is told when an append got no clear answer. */
export function unconfirmedError(cause: unknown): DomainError {
  return new DomainError(
    'event_store_unavailable',
    'The event store did not confirm this; it may or may not be recorded',
    undefined,
    { cause },
  )
}

/** What a caller is told when the log said no: nothing was recorded. */
export function rejectedByStoreError(cause: unknown): DomainError {
  return new DomainError('event_store_unavailable', 'The event store refused to record this', undefined, { cause })
}

/** What a caller is told when the log could not be read. */
export function unreadableLogError(cause: unknown): DomainError {
  return new DomainError('event_store_unavailable', 'The event store cannot be read at the moment', undefined, {
    cause,
  })
}
