// The lists of administrators: everybody's payments, refunds and disputes, products, the audit trail, and reports.
import type { FastifyPluginAsync } from 'fastify'
import { ownerRoutes } from './admin-owners/routes.ts'
import { adminPaymentRoutes } from './admin-payments/routes.ts'
import { statisticsRoutes } from './admin-payments/statisticsRoutes.ts'
import { adminRefundRoutes } from './admin-refunds/routes.ts'
import { auditTrailRoutes } from './audit-trail/routes.ts'
import { disputeRoutes } from './disputes/routes.ts'
import { productRoutes } from './products/routes.ts'
import { reportRoutes } from './reports/routes.ts'
import type { QueryDependencies } from './routeSchemas.ts'

const resources = [
  adminPaymentRoutes,
  adminRefundRoutes,
  disputeRoutes,
  ownerRoutes,
  productRoutes,
  auditTrailRoutes,
  statisticsRoutes,
  reportRoutes,
]

/** Register it where routes are guarded, and after `listFiles`, if the lists are also sent as files. */
export const administratorLists =
  (reading: Pick<QueryDependencies, 'db' | 'readAfter'>): FastifyPluginAsync =>
  async (http) => {
    // Guests have no access.
    const dependencies = { ...reading, onGuestRead: () => undefined }
    for (const routes of resources) await http.register(routes(dependencies))
  }
