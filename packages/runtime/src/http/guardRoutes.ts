// Who may call a route and what the audit trail records of it: from the route's own description, for every route.
import type { IncomingMessage } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { AuditedAction } from '@paylog/domain/auditedActions'
import type { ActionOutcome, AdministratorAction } from '@paylog/domain/auditTrail'
import type { Right } from '@paylog/domain/rights'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify'
import { Type } from 'typebox'
import { type CallerKind, type Callers, nameOfRights, securityOf } from './callers.ts'
import type { RouteNotes } from './openApiSchemas.ts'
import { ReasonHeaders } from './reason.ts'
import { isChanging } from './unknownFields.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteAccess> {
    /**
     * What the audit trail records of a request, see `audited`. A route with a right that changes something must have it: null where
     * the events that it records name who did it.
     */
    readonly audited?: AuditedRoute | null
  }
}

/** Who may call a route: certain callers, or those with a right, or with one of several. A route has one of the two. */
export type RouteAccess = { readonly callers?: CallerKind; readonly right?: Right | readonly Right[] }

/** A request with an Idempotency-Key that its route executes once: a repetition of it is the same action, and adds no entry. */
export type KeyedRequest = { readonly request_id: string; readonly request_fingerprint: string | null }

/** What is done to what, without personal data. */
export type ActionTarget = Pick<AdministratorAction, 'target'> &
  Partial<Pick<AdministratorAction, 'details'>> & { readonly keyed?: KeyedRequest }

/** What is about to be done, or shown. */
export type IntendedAction = Pick<AdministratorAction, 'action'> & ActionTarget

/** Records how an action ended. It never fails: an action whose end is not recorded has an unknown outcome. */
type RecordEnd = (outcome: ActionOutcome) => Promise<void>

/** Writes an action to the audit trail. @throws DomainError: then it must not be done */
export type RecordAction = (request: FastifyRequest, action: IntendedAction) => Promise<RecordEnd>

type AuditedRoute = {
  readonly action: AuditedAction
  readonly targetOf: (request: FastifyRequest) => Promise<ActionTarget | undefined>
}

/** The request of a route with this schema. */
export type RequestOf<Schema extends FastifySchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  IncomingMessage,
  Schema,
  TypeBoxTypeProvider
>

/**
 * Describes what the audit trail records of a route's requests: of a change before its handler runs, of a read before it is answered
 * with success.
 * @param targetOf checks that the action is possible, so that nothing is recorded that is not done; undefined when a request is no
 *   action of an administrator, such as a dry run
 */
export const audited = <const Schema extends FastifySchema>(
  _schema: Schema,
  action: AuditedAction,
  targetOf: (request: RequestOf<Schema>) => ActionTarget | undefined | Promise<ActionTarget | undefined>,
): AuditedRoute => ({ action, targetOf: async (request) => await targetOf(request as RequestOf<Schema>) })

/**
 * Guards the routes that are registered in this scope afterwards, as their `config` says, and completes their schemas.
 * @param record is missing where no route is audited
 * @throws Error for a route that does not say who may call it, or what is recorded of it
 */
export function guardRoutes(scope: FastifyInstance, callers: Callers, record?: RecordAction): void {
  scope.addHook('onRoute', (route) => {
    const { callers: kind, right, audited } = route.config ?? {}
    const fail = (message: string) => new Error(`${[route.method].flat().join()} ${route.url} ${message}`)
    if ((kind === undefined) === (right === undefined)) throw fail('must have either callers or a right in its config')
    if (right !== undefined && audited === undefined && isChanging(route.method))
      throw fail('must say in its config what is audited')
    const anyOf = right === undefined ? [] : [right].flat()
    const required = kind ?? 'session'
    const hook = right === undefined ? hookOf(callers, required) : callers.withRight(anyOf)
    if (hook !== undefined) route.onRequest = [hook, ...listOf(route.onRequest)]
    const security = securityOf(required)
    route.schema = { ...route.schema, ...(security && { security }), ...(right && { 'x-right': nameOfRights(anyOf) }) }
    if (!audited) return
    if (record === undefined) throw fail('is audited, and there is no audit trail')
    addAudit(route, audited, record)
  })
}

const hookOf = (callers: Callers, kind: CallerKind) =>
  kind === 'public' || kind === 'providers' ? undefined : callers[kind]

function addAudit(route: RouteOptions, { action, targetOf }: AuditedRoute, record: RecordAction): void {
  const ends = new WeakMap<FastifyRequest, RecordEnd>()
  async function audit(request: FastifyRequest): Promise<void> {
    const target = await targetOf(request)
    if (target !== undefined) ends.set(request, await record(request, { action, ...target }))
  }
  const isChange = isChanging(route.method)
  if (isChange) route.preHandler = [audit, ...listOf(route.preHandler)]
  route.onSend = [
    async (request, reply, payload) => {
      if (!isChange && reply.statusCode < 400) await audit(request)
      const outcome = outcomeOf(request, reply)
      if (outcome !== undefined) await ends.get(request)?.(outcome)
      return payload
    },
    ...listOf(route.onSend),
  ]
  route.schema = describedAudit(route.schema)
}

/** After these another request, or an earlier step of this one, may have done it. */
const openErrors: readonly (string | undefined)[] = ['idempotency_key_in_flight', 'concurrent_modification']

/** @returns undefined when the response does not say whether it was done */
function outcomeOf({ errorCode }: FastifyRequest, { statusCode }: FastifyReply): ActionOutcome | undefined {
  if (statusCode < 400) return 'done'
  return statusCode < 500 && !openErrors.includes(errorCode) ? 'refused' : undefined
}

/** Every audited route takes a reason, and needs the audit trail. @returns the schema of the route with both */
export function describedAudit({
  headers,
  'x-errors': errors,
  ...schema
}: FastifySchema & RouteNotes = {}): FastifySchema {
  const described: RouteNotes = {
    'x-errors': { headers: {}, ...errors, codes: [...(errors?.codes ?? []), 'event_store_unavailable'] },
  }
  const both = Type.IsObject(headers) ? Type.Interface([headers, ReasonHeaders], {}) : ReasonHeaders
  return { ...schema, ...described, headers: both }
}

/** The hooks of a route. */
export const listOf = <Hook>(hooks: Hook | Hook[] | undefined): Hook[] =>
  hooks === undefined ? [] : ([hooks].flat() as Hook[])
