// The reading half of the API as one plugin: the api mounts it beside the writing half.
import type { Queryable } from '@paylog/projections/queries/namedQuery'
import { type ActorOf, createCallers } from '@paylog/runtime/http/callers'
import type { FastifyPluginAsync } from 'fastify'
import { addressRoutes } from './addresses/routes.ts'
import { paymentMethodRoutes } from './payment-methods/routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { productRoutes } from './products/routes.ts'
import { createReadAfter } from './readAfter.ts'
import type { QueryDependencies } from './reading.ts'
import { webhookLogRoutes } from './webhook-logs/routes.ts'

const resources = [paymentRoutes, paymentMethodRoutes, addressRoutes, productRoutes, webhookLogRoutes]

/**
 * Lists and gets. It must be registered on an instance of `createHttp`, which validates, and answers errors.
 *
 * @param deps `db` is a pool on the database of the read models; `actorOf` finds the caller of a request
 */
export function queryApi({ db, actorOf }: { readonly db: Queryable; readonly actorOf: ActorOf }): FastifyPluginAsync {
  return async (http) => {
    const { sessionOrGuest, session, administrator } = createCallers(actorOf)
    const dependencies: QueryDependencies = {
      db,
      sessionOrGuest,
      session,
      administrator,
      readAfter: createReadAfter(db),
    }
    for (const routes of resources) await http.register(routes(dependencies))
  }
}
