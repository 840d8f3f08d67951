// Records what administrators do, before they do it: an action that cannot be recorded is not done.
import { randomUUIDv7 } from 'node:crypto'
import { actorName } from '@paylog/domain/actor'
import { type AdministratorAction, type AuditTrailEvent, auditTrailFold, recordAction } from '@paylog/domain/auditTrail'
import { derivedId } from '@paylog/domain/derivedId'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { newStream } from '@paylog/event-store/eventStore'
import { auditTrailStream } from '@paylog/event-store/streamName'
import type { IntendedAction, KeyedRequest, RecordAction } from '@paylog/runtime/http/guardRoutes'
import { reasonOf } from '@paylog/runtime/http/reason'
import type { Workflow } from './context.ts'
import { metadataOf } from './request/requestContext.ts'

type AuditLog = Pick<Workflow, 'store' | 'now'>

/** Who does it, and why. */
export type ActionContext = Pick<AdministratorAction, 'actor' | 'reason'> & { readonly metadata: EventMetadata }

/**
 * Records an action. Call it before the action is done.
 * @throws DomainError `event_store_unavailable`: the action must not be done, and may be recorded all the same
 */
export async function auditAction(
  { store, now }: AuditLog,
  { action, target, details = {}, keyed }: IntendedAction,
  { actor, reason, metadata }: ActionContext,
): Promise<void> {
  const action_id = actionId(keyed)
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

/** Records what the caller of a request is about to do, with the reason of its `X-Reason`. */
export const recordRequests =
  (log: AuditLog): RecordAction =>
  async (request, action) => {
    const reason = reasonOf(request.headers)
    await auditAction(log, action, { actor: actorName(request.actor), reason, metadata: metadataOf(request) })
  }
