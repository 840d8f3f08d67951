// The reading half of the API as one plugin: the gateway mounts it beside the writing half.
import type { Queryable } from '@paylog/projections/namedQuery'
import type { ActorOf } from '@paylog/runtime/callers'
import type { FastifyPluginAsync } from 'fastify'
import { paymentRoutes } from './payments/routes.ts'

/**
 * Lists and gets. It must be registered on an instance of `createHttp`, which validates, and answers errors.
 *
 * @param deps `db` is a pool on the database of the read models; `actorOf` finds the caller of a request
 */
export function queryApi(deps: { readonly db: Queryable; readonly actorOf: ActorOf }): FastifyPluginAsync {
  return async (http) => {
    await http.register(paymentRoutes(deps))
  }
}
