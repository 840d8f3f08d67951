// The audit trail: what administrators did, or asked for, beyond their own data.
import { type Static, Type } from 'typebox'
import type { AuditedAction } from './auditedActions.ts'
import { hasCardNumber } from './cardNumber.ts'
import type { EventsOf, Fold } from './events.ts'
import { ClientObject, Id, Instant, Nullable, RequiredText } from './fields.ts'
import { maxReasonLength } from './reason.ts'

const AuditTarget = Type.Object(
  {
    kind: Type.String({ description: 'Such as payment, webhook_endpoint or projection' }),
    id: Type.String({ description: 'Never an e-mail: a person has a user id, or the id of the erasure' }),
  },
  { title: 'AuditTarget' },
)

export const auditTrailEvents = {
  /** Recorded before the action is done. Whether it succeeded is in what it changed. */
  AdministratorActed: Type.Object({
    action_id: Id,
    occurred_at: Instant,
    /** One of `auditedActions`; any text, so that a program can read the actions of a later one. */
    action: RequiredText,
    target: Nullable(AuditTarget),
    /** As in the metadata of events, for a command with the user of the operating system: `operator:ann`. */
    actor: RequiredText,
    /** In the administrator's words. Personal data of payers does not belong here: an erasure does not reach it. */
    reason: Nullable(Type.String({ maxLength: maxReasonLength })),
    /** What was asked for, without personal data. The fields depend on the action. */
    details: ClientObject(),
  }),
}
export type AuditTrailEvent = EventsOf<typeof auditTrailEvents>

/** An action as the API lists it. */
export const AuditTrailEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    action: Type.String({ description: 'What was done, or asked for, such as refund_payment' }),
    target: Nullable(AuditTarget),
    actor: Type.String({ description: '`session:<user id>`, or `operator:<user>` for a command' }),
    reason: Nullable(Type.String({ description: 'In the words of the actor' })),
    details: ClientObject({ description: 'What was asked for; the fields depend on the action' }),
    created_at: Type.With(Instant, { description: 'Just before it was done' }),
  },
  { title: 'AuditTrailEntry' },
)
export type AuditTrailEntry = Static<typeof AuditTrailEntry>

/** Folds to what was done; null when nothing was. */
export const auditTrailFold: Fold<AuditTrailEvent['data'] | null, AuditTrailEvent> = {
  initialState: null,
  evolve: (_state, event) => event.data,
}

export type AdministratorAction = Omit<AuditTrailEvent['data'], 'action'> & { readonly action: AuditedAction }

/** Records an action once. Texts in its target and details that may be an e-mail or a card number are left out. */
export function recordAction(
  auditedAction: AdministratorAction,
  recorded: AuditTrailEvent['data'] | null,
): AuditTrailEvent[] {
  if (recorded !== null) return []
  const { target, details } = auditedAction
  const data = {
    ...auditedAction,
    target: target && { ...target, id: withoutEmailOrCard(target.id) },
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, withoutEmailOrCard(value)])),
  }
  return [{ type: 'AdministratorActed', data }]
}

/** Typed filters and names of streams may be anything; none of ours has an at sign, or digits that pass for a card. */
function withoutEmailOrCard<Value>(value: Value): Value | string {
  const isLeftOut = typeof value === 'string' && (value.includes('@') || hasCardNumber(value))
  return isLeftOut ? '(left out)' : value
}
