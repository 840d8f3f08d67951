// The audit trail: what administrators did, or asked for, beyond their own data.
import { type Static, Type } from 'typebox'
import { type Actor, actorName, userOwner } from './actor.ts'
import type { AuditedAction } from './auditedActions.ts'
import { hasCardNumber } from './cardNumber.ts'
import type { EventsOf, Fold } from './events.ts'
import { ClientObject, Id, Instant, Nullable, RequiredText } from './fields.ts'
import { PersonalText } from './personalData.ts'
import { maxReasonLength } from './reason.ts'

const AuditTarget = Type.Object(
  {
    kind: Type.String({ description: 'Such as payment, webhook_endpoint or projection' }),
    id: Type.String({ description: 'Never an e-mail: a person has a user id, or the id of the erasure' }),
  },
  { title: 'AuditTarget' },
)

export const auditTrailEvents = {
  /** Recorded before the action is done. */
  AdministratorActed: Type.Object({
    action_id: Id,
    occurred_at: Instant,
    /** One of `auditedActions`; any text, so that a program can read the actions of a later one. */
    action: RequiredText,
    target: Nullable(AuditTarget),
    /** As in the metadata of events, for a command with the user of the operating system: `operator:ann`. */
    actor: RequiredText,
    /** The administrator's e-mail at that time. Version 1.0.0 did not record it. */
    actor_email: Type.Optional(PersonalText),
    /** In the administrator's words. Personal data of payers does not belong here: an erasure does not reach it. */
    reason: Nullable(Type.String({ maxLength: maxReasonLength })),
    /** What was asked for, without personal data. The fields depend on the action. */
    details: ClientObject(),
  }),
  /** Recorded after it. Without this event nobody knows: version 1.0.0 did not record it, and an error may leave it open. */
  AdministratorActionEnded: Type.Object({
    action_id: Id,
    occurred_at: Instant,
    /** refused: the request was rejected, and nothing was done. */
    outcome: Type.Enum(['done', 'refused']),
  }),
}
export type AuditTrailEvent = EventsOf<typeof auditTrailEvents>
export type AdministratorActed = Extract<AuditTrailEvent, { readonly type: 'AdministratorActed' }>
type Acted = AdministratorActed['data']
type Ended = Extract<AuditTrailEvent, { readonly type: 'AdministratorActionEnded' }>['data']
export type ActionOutcome = Ended['outcome']

/** An action as the API lists it. */
export const AuditTrailEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Also the id of the job that the action started' }),
    action: Type.String({ description: 'What was done, or asked for, such as refund_payment' }),
    target: Nullable(AuditTarget),
    actor: Type.String({ description: '`session:<user id>`, or `operator:<user>` for a command' }),
    actor_email: Nullable(
      Type.String({
        description: 'At that time. Null for a command, for entries of version 1.0.0, and once it is erased',
      }),
    ),
    reason: Nullable(Type.String({ description: 'In the words of the actor' })),
    details: ClientObject({ description: 'What was asked for; the fields depend on the action' }),
    amount_cents: Nullable(
      Type.Integer({ description: 'Of a refund or a capture; null for all that is left, and for others' }),
    ),
    currency: Nullable(Type.String({ description: 'Of the payment that is the target' })),
    outcome: Type.Enum(['done', 'refused', 'unknown'], {
      description:
        'done: of a job, it was started. refused: nothing was done. unknown: it has not ended, ended without a clear result, or is an entry of version 1.0.0',
    }),
    created_at: Type.With(Instant, { description: 'Just before it was done' }),
  },
  { title: 'AuditTrailEntry' },
)
export type AuditTrailEntry = Static<typeof AuditTrailEntry>

/** Who acts, as the audit trail names them. */
export type ActingPerson = Required<Pick<Acted, 'actor' | 'actor_email'>>

const sessionPrefix = 'session:'

export const actingPerson = (actor: Actor): ActingPerson => ({
  actor: actorName(actor),
  actor_email: actor.kind === 'session' ? actor.user_email : null,
})

type AuditTrailState = (ActingPerson & { readonly outcome: ActionOutcome | null }) | null

/** Folds to who acted and how it ended; null when nobody has. */
export const auditTrailFold: Fold<AuditTrailState, AuditTrailEvent> = {
  initialState: null,
  evolve(state, { type, data }) {
    if (type === 'AdministratorActed')
      return { actor: data.actor, actor_email: data.actor_email ?? null, outcome: null }
    return state && { ...state, outcome: data.outcome }
  },
  // An e-mail of an administrator goes with everything else of that user.
  subjectOf(state) {
    if (state === null || state.actor_email === null || !state.actor.startsWith(sessionPrefix)) return null
    return { name: userOwner(state.actor.slice(sessionPrefix.length)), guest: null, email: state.actor_email }
  },
}

export type AdministratorAction = Omit<Acted, 'action' | 'actor_email'> & {
  readonly action: AuditedAction
  readonly actor_email: string | null
}

/** Records an action once. Texts in its target and details that may be an e-mail or a card number are left out. */
export function recordAction(auditedAction: AdministratorAction, recorded: AuditTrailState): AuditTrailEvent[] {
  if (recorded !== null) return []
  const { target, details } = auditedAction
  const data = {
    ...auditedAction,
    target: target && { ...target, id: withoutEmailOrCard(target.id) },
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, withoutEmailOrCard(value)])),
  }
  return [{ type: 'AdministratorActed', data }]
}

/** Records how an action ended. What is done stays done: a repetition that is refused changes nothing. */
export function recordActionEnd(end: Ended, recorded: AuditTrailState): AuditTrailEvent[] {
  const isKnown = recorded === null || recorded.outcome === 'done' || recorded.outcome === end.outcome
  return isKnown ? [] : [{ type: 'AdministratorActionEnded', data: end }]
}

/** Typed filters and names of streams may be anything; none of ours has an at sign, or digits that pass for a card. */
function withoutEmailOrCard<Value>(value: Value): Value | string {
  const isLeftOut = typeof value === 'string' && (value.includes('@') || hasCardNumber(value))
  return isLeftOut ? '(left out)' : value
}
