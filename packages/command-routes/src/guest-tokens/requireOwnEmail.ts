// A guest token speaks for its own e-mail alone.
import type { Guest } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { foldEmail } from '@paylog/domain/owner'

/**
 * @param email as the body has it, which is not validated yet; what is no text is left to validation
 * @param where the body has it
 * @throws DomainError `forbidden`
 */
export function requireOwnEmail({ guest_email }: Guest, email: unknown, where: string): void {
  if (typeof email === 'string' && foldEmail(email) !== foldEmail(guest_email))
    throw new DomainError('forbidden', `The guest token belongs to another e-mail than ${where}`)
}
