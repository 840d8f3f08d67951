// Whom a command is about.

import type { Findings } from '@paylog/administration/privacy/erase'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import type { Subject } from '@paylog/privacy/dataKeys'
import { exitDifferent, messageOf, OpsError, UsageError } from '../command.ts'
import { type ReadOptions, text } from '../options.ts'

export const personOptions = {
  user: text('ID', 'a user of yours, as in user_id'),
  email: text('E', 'a guest, and every user that was seen with this e-mail'),
  payment: text('ID', 'the payer of an anonymous payment'),
}

export const personUsage = '--user ID|--email E|--payment ID'

/** @throws UsageError */
export function readPerson({ user, email, payment }: ReadOptions<typeof personOptions>): Subject {
  const given = [user, email, payment].filter((value) => value !== undefined)
  if (given.length !== 1 || given[0] === '') throw new UsageError(`Name one person: ${personUsage}`)
  if (user !== undefined) return { user }
  if (email !== undefined) {
    if (!email.includes('@')) throw new UsageError('--email must be an e-mail')
    return { email }
  }
  const id = recordedId(payment ?? '')
  if (id === null) throw new UsageError('--payment must be the id of a payment')
  return { payment: id }
}

/** @throws OpsError with the exit code for an unknown person instead of `not_found`; any other error as it is */
export function throwUnknown(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== 'not_found') throw error
  throw new OpsError(messageOf(error), { exitCode: exitDifferent, cause: error })
}

/** @throws OpsError when there is nothing of an e-mail or a payment */
export function requireKnown({ keys, payments, payment_methods, addresses, other_streams }: Findings): void {
  if (keys + payments.count + payment_methods.count + addresses.count + other_streams === 0)
    throw new OpsError('Nothing is known of this person', { exitCode: exitDifferent })
}
