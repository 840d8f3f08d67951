// The routes. Each page is a file of its own, loaded when it is opened.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { NotFound, PageError, PageLoading } from './layout/pageStates.tsx'
import { Shell } from './layout/Shell.tsx'
import { auditSearch } from './pages/audit/auditSearch.ts'
import { overviewSearch } from './pages/overview/overviewSearch.ts'
import { ownerSearch } from './pages/owners/ownerSearch.ts'
import { paymentSearch } from './pages/payment/paymentSearch.ts'
import { paymentsSearch } from './pages/payments/paymentsSearch.ts'
import { productsSearch } from './pages/products/productsSearch.ts'
import { webhooksSearch } from './pages/webhooks/webhooksSearch.ts'
import { parseSearch, stringifySearch } from './search.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: overviewSearch,
    component: lazyRouteComponent(() => import('./pages/overview/OverviewPage.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/payments',
    validateSearch: paymentsSearch,
    component: lazyRouteComponent(() => import('./pages/payments/PaymentsPage.tsx'), 'PaymentsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/payments/$id',
    validateSearch: paymentSearch,
    component: lazyRouteComponent(() => import('./pages/payment/PaymentPage.tsx'), 'PaymentPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/owners',
    validateSearch: ownerSearch,
    component: lazyRouteComponent(() => import('./pages/owners/OwnerPage.tsx'), 'OwnerPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/products',
    validateSearch: productsSearch,
    component: lazyRouteComponent(() => import('./pages/products/ProductsPage.tsx'), 'ProductsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks',
    validateSearch: webhooksSearch,
    component: lazyRouteComponent(() => import('./pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks/deliveries/$id',
    component: lazyRouteComponent(() => import('./pages/webhooks/DeliveryPage.tsx'), 'DeliveryPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/read-models',
    component: lazyRouteComponent(() => import('./pages/read-models/ReadModelsPage.tsx'), 'ReadModelsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/jobs/$id',
    component: lazyRouteComponent(() => import('./pages/read-models/JobPage.tsx'), 'JobPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/audit',
    validateSearch: auditSearch,
    component: lazyRouteComponent(() => import('./pages/audit/AuditPage.tsx'), 'AuditPage'),
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageError,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
