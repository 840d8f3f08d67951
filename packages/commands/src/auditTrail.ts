// Records what administrators do, before they do it: an action that cannot be recorded is not done.
import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ActingPerson,
  type ActionOutcome,
  type AdministratorAction,
  actingPerson,
  auditTrailFold,
  recordAction,
  recordActionEnd,
} from '@paylog/domain/auditTrail'
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
export type ActionContext = ActingPerson & Pick<AdministratorAction, 'reason'> & { readonly metadata: EventMetadata }

/**
 * Records an action. Call it before the action is done.
 * @returns records how it ended
 * @throws DomainError `event_store_unavailable`, `service_unavailable`: the action must not be done, and may be recorded all the same
 */
export async function auditAction(
  { store, now }: AuditLog,
  { action, target, details = {}, keyed }: IntendedAction,
  { actor, actor_email, reason, metadata }: ActionContext,
): Promise<(outcome: ActionOutcome) => Promise<void>> {
  const action_id = actionId(keyed, metadata)
  const occurred_at = now().toISOString()
  const auditedAction = { action_id, occurred_at, action, target, actor, actor_email, reason, details }
  const stream = { stream: auditTrailStream(action_id), fold: auditTrailFold, metadata }
  const recorded = await store
    .handle({
      ...stream,
      decide: (state: AuditTrailState) => recordAction(auditedAction, state),
      assumed: newStream(auditTrailFold),
    })
    .catch(throwNotDone)
  return async (outcome) => {
    const end = { action_id, occurred_at: now().toISOString(), outcome }
    await store.handle({
      ...stream,
      decide: (state: AuditTrailState) => recordActionEnd(end, state),
      assumed: recorded,
    })
  }
}

type AuditTrailState = typeof auditTrailFold.initialState

/**
 * A keyed request has an id that follows from its key, with the fingerprint, because another body with the same key asks for another
 * action. Any other request gives its own id, which the job that it starts has too.
 */
function actionId(
  { request_id, request_fingerprint }: Partial<KeyedRequest> = {},
  { requestId }: EventMetadata,
): string {
  if (request_id && request_fingerprint) return derivedId('deed', request_id, request_fingerprint)
  return requestId ?? randomUUIDv7()
}

function throwNotDone(cause: unknown): never {
  if (!(cause instanceof DomainError && cause.code === 'event_store_unavailable')) throw cause
  throw new DomainError(cause.code, 'The audit trail cannot be written, so nothing was done', undefined, { cause })
}

/** How long a response waits until the end of its action is recorded. */
const endWaitMs = 2_000

/** Records what the caller of a request is about to do, with the reason of its `X-Reason`. */
export const recordRequests =
  (log: AuditLog): RecordAction =>
  async (request, action) => {
    const context = { ...actingPerson(request.actor), reason: reasonOf(request.headers), metadata: metadataOf(request) }
    const end = await auditAction(log, action, context)
    return async (outcome) => {
      const recorded = end(outcome).catch((error: unknown) =>
        request.log.warn({ err: error, action: action.action, outcome }, 'the end of an action could not be recorded'),
      )
      await Promise.race([recorded, sleep(endWaitMs, undefined, { ref: false })])
    }
  }
