// What an operator is told of an error.
import { databaseAdvice } from '@paylog/runtime/postgres/databaseFailure'

/** Its message; of a mistake of ours also where it was made. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection is an AggregateError of one per address, without a message of its own.
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  // A mistake of ours is one of the language's own errors, and its stack helps; the rest comes from outside.
  const isMistake = reason instanceof TypeError || reason instanceof ReferenceError || reason instanceof RangeError
  return isMistake ? (reason.stack ?? reason.message) : (databaseAdvice(reason) ?? reason.message)
}
