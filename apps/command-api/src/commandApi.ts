// The write side: everything that changes something, as one Fastify plugin.
import type { Callers } from '@paylog/runtime/callers'
import type { Workflow } from '@paylog/workflows/context'
import type { FastifyPluginAsync } from 'fastify'
import { addressRoutes } from './addresses/routes.ts'
import { paymentMethodRoutes } from './payment-methods/routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { receiverRoutes } from './receivers/routes.ts'
import { setupIntentRoutes } from './setup-intents/routes.ts'

export const commandApi =
  ({ workflow, callers }: { readonly workflow: Workflow; readonly callers: Callers }): FastifyPluginAsync =>
  async (app) => {
    await app.register(paymentRoutes({ workflow, callers }))
    await app.register(setupIntentRoutes({ workflow, callers }))
    await app.register(paymentMethodRoutes({ workflow, callers }))
    await app.register(addressRoutes({ workflow, callers }))
    await app.register(receiverRoutes(workflow))
  }
