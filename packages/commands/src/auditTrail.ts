// Records what administrators do, before they do it: an action that cannot be recorded is not done.
import { randomUUIDv7 } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Actor, actorName } from '@paylog/domain/actor'
import { type AdministratorAction, type AuditTrailEvent, auditTrailFold, recordAction } from '@paylog/domain/auditTrail'
import { derivedId } from '@paylog/domain/derivedId'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { newStream } from '@paylog/event-store/eventStore'
import { auditTrailStream } from '@paylog/event-store/streamName'
import { reasonOf } from '@paylog/runtime/http/reason'
import type { Workflow } from './context.ts'
import type { RepeatableRequest } from './request/idempotentRequests.ts'

type AuditLog = Pick<Workflow, 'store' | 'now'>

/** What is about to be done, to what. */
export type IntendedAction = Pick<AdministratorAction, 'action' | 'target'> &
  Partial<Pick<AdministratorAction, 'details'>>

/** A request with an Idempotency-Key that its route executes once. */
export type KeyedRequest = Pick<RepeatableRequest, 'request_id' | 'request_fingerprint'>

/** Who does it, and why. `request`: a repetition of it is the same action, and adds no entry. */
export type ActionContext = Pick<AdministratorAction, 'actor' | 'reason'> & {
  readonly metadata: EventMetadata
  readonly request?: KeyedRequest | undefined
}

/**
 * Records an action. Call it before the action is done.
 * @throws DomainError `event_store_unavailable`: the action must not be done, and may be recorded all the same
 */
export async function auditAction(
  { store, now }: AuditLog,
  { action, target, details = {} }: IntendedAction,
  { actor, reason, metadata, request }: ActionContext,
): Promise<void> {
  const action_id = actionId(request)
  const auditedAction = { action_id, occurred_at: now().toISOString(), action, target, actor, reason, details }
  const command = {
    stream: auditTrailStream(action_id),
    fold: auditTrailFold,
    decide: (recorded: AuditTrailEvent['data'] | null) => recordAction(auditedAction, recorded),
    metadata,
    assumed: newStream(auditTrailFold),
  }
  await store.handle(command).catch(throwNotDone)
}

/** With the fingerprint, because another body with the same key asks for another action. */
function actionId({ request_id, request_fingerprint }: Partial<KeyedRequest> = {}): string {
  return request_id && request_fingerprint ? derivedId('deed', request_id, request_fingerprint) : randomUUIDv7()
}

function throwNotDone(cause: unknown): never {
  if (!(cause instanceof DomainError && cause.code === 'event_store_unavailable')) throw cause
  throw new DomainError(cause.code, 'The audit trail cannot be written, so nothing was done', undefined, { cause })
}

type AdministratorRequest = { readonly id: string; readonly actor: Actor; readonly headers: IncomingHttpHeaders }

/**
 * Records what the caller of a request is about to do, with the reason of its `X-Reason`.
 * @param keyed only where the route executes a request with the same Idempotency-Key once: elsewhere each one has an effect,
 *   and an entry
 * @throws DomainError `invalid_request` for a malformed reason, and the errors of `auditAction`
 */
export async function auditRequest(
  log: AuditLog,
  request: AdministratorRequest,
  auditedAction: IntendedAction,
  keyed?: KeyedRequest,
): Promise<void> {
  const { id: requestId, headers } = request
  const actor = actorName(request.actor)
  const metadata = { correlationId: requestId, causationId: requestId, actor, requestId }
  await auditAction(log, auditedAction, { actor, reason: reasonOf(headers), metadata, request: keyed })
}
