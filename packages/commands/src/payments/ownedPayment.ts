// Who may change a payment: its owner, and administrators.
import { ownerOf, recordedOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { paymentFold } from '@paylog/domain/payments/fold'
import { existingPayment } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import { isAdministrator, knownActor } from '@paylog/runtime/http/callers'
import type { FastifyRequest } from 'fastify'
import type { Workflow } from '../context.ts'

/** A payment that the caller may change. Administrators may change everybody's. */
export type ChangeablePayment = { readonly payment_id: string; readonly isOwn: boolean }

/**
 * @param id from the path
 * @throws DomainError `not_found`, with the same message for a malformed id, an unknown one, and somebody else's;
 *   `forbidden` for a guest who may only read the payment of a session; `event_store_unavailable`
 */
export async function changeablePayment(
  { store }: Workflow,
  request: Pick<FastifyRequest, 'actor'>,
  id: string,
): Promise<ChangeablePayment> {
  const payment_id = pathId(id)
  const { payer, guest_email } = existingPayment((await store.load(paymentStream(payment_id), paymentFold)).state)
  if (request.actor.kind === 'operator') return { payment_id, isOwn: false }
  const actor = knownActor(request.actor)
  if (recordedOwner({ user_id: payer.id, guest_email }) === ownerOf(actor)) return { payment_id, isOwn: true }
  if (isAdministrator(actor)) return { payment_id, isOwn: false }
  const canRead = actor.kind === 'guest' && recordedOwner({ user_id: null, guest_email }) === ownerOf(actor)
  if (canRead) throw new DomainError('forbidden', 'The session that created the payment is required')
  throw noPayment()
}

/** A payment id as recorded. @throws DomainError `not_found` for a malformed one */
export function pathId(id: string): string {
  const recorded = recordedId(id)
  if (recorded === null) throw noPayment()
  return recorded
}

export const noPayment = () => new DomainError('not_found', 'No payment with this id')
