// Who may change a payment: its owner, and administrators with the right.
import { hasRight, ownerOf, recordedOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { Right } from '@paylog/domain/rights'
import { paymentStream } from '@paylog/event-store/streamName'
import { knownActor, notOwned } from '@paylog/runtime/http/callers'
import type { FastifyRequest } from 'fastify'
import type { Workflow } from '../context.ts'

/** A payment that the caller may change. */
export type ChangeablePayment = { readonly payment_id: string; readonly isOwn: boolean }

/**
 * @param id from the path
 * @param right which changes everybody's
 * @throws DomainError `not_found`, with the same message for a malformed id, an unknown one, and somebody else's;
 *   `forbidden` for a guest who may only read the payment of a session, and for who has other rights; `event_store_unavailable`
 */
export async function changeablePayment(
  workflow: Workflow,
  { actor }: Pick<FastifyRequest, 'actor'>,
  id: string,
  right: Right,
): Promise<ChangeablePayment> {
  const payment_id = recordedId(id)
  const payment = payment_id === null ? undefined : await findPayment(workflow, payment_id)
  if (payment_id === null || payment === undefined) throw notOwned(actor, right, noPayment())
  const { payer, guest_email } = payment
  if (actor.kind === 'operator') return { payment_id, isOwn: false }
  const owner = ownerOf(knownActor(actor))
  if (recordedOwner({ user_id: payer.id, guest_email }) === owner) return { payment_id, isOwn: true }
  if (hasRight(actor, right)) return { payment_id, isOwn: false }
  const canRead = actor.kind === 'guest' && recordedOwner({ user_id: null, guest_email }) === owner
  if (canRead) throw new DomainError('forbidden', 'The session that created the payment is required')
  throw notOwned(actor, right, noPayment())
}

async function findPayment({ store }: Workflow, payment_id: string) {
  const { state } = await store.load(paymentStream(payment_id), paymentFold)
  return state.status === 'none' ? undefined : state
}

/** A payment id as recorded. @throws DomainError `not_found` for a malformed one */
export function pathId(id: string): string {
  const recorded = recordedId(id)
  if (recorded === null) throw noPayment()
  return recorded
}

export const noPayment = () => new DomainError('not_found', 'No payment with this id')
