// Distinguishes a full disk of Postgres from other failures.
import pg from 'pg'
import type { WriterSession } from './writerSession.ts'

const diskFull = '53100'

/** Whether Postgres says that it has no space. What was written then is unknown: it may have crashed because of that. */
export const saysNoSpace = (error: unknown) => error instanceof pg.DatabaseError && error.code === diskFull

/**
 * Whether a statement failed because Postgres has no space, and wrote nothing. A session that still answers has rolled it back;
 * a Postgres that crashed because of the full disk has ended it. The severity in the error does not show it: it is translated.
 */
export async function isOutOfSpace(session: WriterSession, error: unknown): Promise<boolean> {
  if (!saysNoSpace(error)) return false
  const answered = Promise.resolve(session.db.query('select 1'))
  return await answered.then(
    () => true,
    () => false,
  )
}
