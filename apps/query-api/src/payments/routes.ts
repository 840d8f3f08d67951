// GET /payments and GET /payments/{id} (interface, sections 4.2 and 4.3).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { DomainError } from '@paylog/domain/errors'
import { ListedPayment, PaymentResource } from '@paylog/domain/payments/resource'
import type { Queryable } from '@paylog/projections/namedQuery'
import { ownerOf } from '@paylog/domain/owner'
import { getPayment, listPayments } from '@paylog/projections/payments/queries'
import { type ActorOf, createCallers } from '@paylog/runtime/callers'
import { callerSecurity, errorAnswers } from '@paylog/runtime/openApiParts'
import { Type } from 'typebox'
import { ReadAfterHeaders, readAfter } from '../readAfter.ts'
import { knownActor, ownEmailOnly, UserContext, userContext } from '../userContext.ts'
import { ListQuery, OrderBy, OrderDir, paymentsQuestion } from './listQuery.ts'

const ListAnswer = Type.Object({
  success: Type.Literal(true),
  data: Type.Array(ListedPayment),
  meta: Type.Object({
    page: Type.Integer(),
    limit: Type.Integer(),
    total: Type.Integer(),
    hasMore: Type.Boolean(),
    orderBy: OrderBy,
    orderDir: OrderDir,
  }),
  user_context: UserContext,
})

const SingleAnswer = Type.Object({ success: Type.Literal(true), data: PaymentResource })

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function paymentRoutes(deps: { readonly db: Queryable; readonly actorOf: ActorOf }): FastifyPluginAsyncTypebox {
  const { db, actorOf } = deps
  const { sessionOrGuest } = createCallers(actorOf)
  const preHandler = readAfter(db, 'payments')

  return async (http) => {
    http.get(
      '/payments',
      {
        onRequest: [sessionOrGuest, ownEmailOnly],
        preHandler,
        schema: {
          tags: ['payments'],
          summary: 'List the payments of the caller',
          querystring: ListQuery,
          headers: ReadAfterHeaders,
          security: callerSecurity,
          response: { 200: ListAnswer, ...errorAnswers },
        },
      },
      async ({ actor, query }) => {
        const caller = knownActor(actor)
        const question = paymentsQuestion(ownerOf(caller), query)
        const { payments, total } = await listPayments(db, question)
        const { page, limit, orderBy, orderDir } = question
        return {
          success: true as const,
          data: [...payments],
          meta: { page, limit, total, hasMore: page * limit < total, orderBy, orderDir },
          user_context: userContext(caller),
        }
      },
    )

    http.get(
      '/payments/:id',
      {
        onRequest: sessionOrGuest,
        preHandler,
        schema: {
          tags: ['payments'],
          summary: 'Get one payment of the caller',
          params: Type.Object({ id: Type.String() }),
          querystring: Type.Object({ token: Type.Optional(Type.String({ description: 'Guest token' })) }),
          headers: ReadAfterHeaders,
          security: callerSecurity,
          response: { 200: SingleAnswer, ...errorAnswers },
        },
      },
      async ({ actor, params: { id } }, reply) => {
        const owner = ownerOf(knownActor(actor))
        // What is no id of a payment, and what is someone else's, is not found in the same words.
        const found = uuid.test(id) ? await getPayment(db, { id, owner }) : undefined
        if (found === undefined) throw new DomainError('not_found', 'No payment with this id')
        reply.header('etag', `"${found.revision}"`)
        return { success: true as const, data: found.payment }
      },
    )
  }
}
