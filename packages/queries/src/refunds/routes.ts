// GET /payments/{id}/refunds and GET /payments/{id}/refunds/{refund_id}: for the payment's owner, and with the right `read`.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, hasRight, ownerOf } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { exampleRefund } from '@paylog/domain/examples'
import { recordedId } from '@paylog/domain/fields'
import { RefundResource } from '@paylog/domain/payments/refunds'
import { knownActor, notOwned } from '@paylog/runtime/http/callers'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import { ItemQuery, itemResponse, type QueryDependencies, readSchema } from '../routeSchemas.ts'
import { getRefund, listRefunds } from './queries.ts'

const PaymentId = Type.String({ description: 'The id of the payment' })

/** @param what in words, for the error message */
const notFound = (what: string) => new DomainError('not_found', `No ${what} with this id`)

export function refundRoutes({ db, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  const common = { config: { callers: 'sessionOrGuest' }, preHandler: readAfter('payments', 'refunds') } as const
  const description = 'For the owner of the payment, and with the right read.'

  return async (http) => {
    http.get(
      '/payments/:id/refunds',
      {
        ...common,
        schema: {
          ...readSchema('payments', 'listRefunds', 'List the refunds of a payment', 'forbidden', 'not_found'),
          description,
          params: Type.Object({ id: PaymentId }),
          querystring: ItemQuery,
          response: {
            200: dataResponse(Type.Array(RefundResource), {
              description: 'All refunds of the payment, newest first',
              headers: staleHeader,
              examples: [[exampleRefund]],
            }),
          },
        },
      },
      async ({ actor, params }) => {
        const id = recordedId(params.id)
        const refunds = id === null ? undefined : await listRefunds(db, { id, owner: readerOf(actor) })
        if (refunds === undefined) throw notOwned(actor, 'read', notFound('payment'))
        return { success: true as const, data: [...refunds] }
      },
    )

    http.get(
      '/payments/:id/refunds/:refund_id',
      {
        ...common,
        schema: {
          ...readSchema('payments', 'getRefund', 'Get a refund of a payment', 'forbidden', 'not_found'),
          description,
          params: Type.Object({ id: PaymentId, refund_id: Type.String({ description: 'The id of the refund' }) }),
          querystring: ItemQuery,
          response: {
            200: itemResponse(RefundResource, exampleRefund),
          },
        },
      },
      async ({ actor, params }, reply) => {
        const [id, refund_id] = [recordedId(params.id), recordedId(params.refund_id)]
        const isPossible = id !== null && refund_id !== null
        const found = isPossible ? await getRefund(db, { id, refund_id, owner: readerOf(actor) }) : undefined
        if (found === undefined) throw notOwned(actor, 'read', notFound('refund'))
        reply.header('etag', `"${found.revision}"`)
        return { success: true as const, data: found.item }
      },
    )
  }
}

/** The owner whose payments the caller reads; `undefined` for who may read everybody's. */
function readerOf(caller: Actor): string | undefined {
  return hasRight(caller, 'read') ? undefined : ownerOf(knownActor(caller))
}
