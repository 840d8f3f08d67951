// The routes. Each page is a file of its own, loaded when it is opened, and names the operation that it needs.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { NotFound, PageError, PageLoading } from './layout/pageStates.tsx'
import { Shell } from './layout/Shell.tsx'
import { auditSearch } from './pages/audit/auditSearch.ts'
import { customerId, customersSearch, formerCustomerSearch } from './pages/customers/customer.ts'
import { disputesSearch } from './pages/disputes/disputesSearch.ts'
import { overviewSearch } from './pages/overview/overviewSearch.ts'
import { paymentSearch } from './pages/payment/paymentSearch.ts'
import { paymentsSearch } from './pages/payments/paymentsSearch.ts'
import { privacySearch } from './pages/privacy/person.ts'
import { productsSearch } from './pages/products/productsSearch.ts'
import { refundsSearch } from './pages/refunds/refundsSearch.ts'
import { reportsSearch } from './pages/reports/reportsSearch.ts'
import { endpointSearch, webhooksSearch } from './pages/webhooks/webhooksSearch.ts'
import { parseSearch, stringifySearch } from './search.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: overviewSearch,
  staticData: { needs: 'getStatistics' },
  component: lazyRouteComponent(() => import('./pages/overview/OverviewPage.tsx'), 'OverviewPage'),
})

const money = [
  createRoute({
    getParentRoute: () => root,
    path: '/payments',
    validateSearch: paymentsSearch,
    staticData: { needs: 'listAnyPayments' },
    component: lazyRouteComponent(() => import('./pages/payments/PaymentsPage.tsx'), 'PaymentsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/payments/$id',
    validateSearch: paymentSearch,
    staticData: { needs: 'getAnyPayment' },
    component: lazyRouteComponent(() => import('./pages/payment/PaymentPage.tsx'), 'PaymentPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/refunds',
    validateSearch: refundsSearch,
    staticData: { needs: 'listAnyRefunds' },
    component: lazyRouteComponent(() => import('./pages/refunds/RefundsPage.tsx'), 'RefundsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/disputes',
    validateSearch: disputesSearch,
    staticData: { needs: 'listDisputes' },
    component: lazyRouteComponent(() => import('./pages/disputes/DisputesPage.tsx'), 'DisputesPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/customers',
    validateSearch: customersSearch,
    staticData: { needs: 'listAnyPayments' },
    component: lazyRouteComponent(() => import('./pages/customers/CustomersPage.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/customers/$id',
    staticData: { needs: 'listAnyPaymentMethods' },
    component: lazyRouteComponent(() => import('./pages/customers/CustomerPage.tsx'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/products',
    validateSearch: productsSearch,
    staticData: { needs: 'listProducts' },
    component: lazyRouteComponent(() => import('./pages/products/ProductsPage.tsx'), 'ProductsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/products/$id',
    staticData: { needs: 'getProduct' },
    component: lazyRouteComponent(() => import('./pages/products/ProductPage.tsx'), 'ProductPage'),
  }),
] as const

const webhooks = [
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks',
    validateSearch: webhooksSearch,
    staticData: { needs: 'listWebhookEndpoints' },
    component: lazyRouteComponent(() => import('./pages/webhooks/WebhooksPage.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks/new',
    staticData: { needs: 'listWebhookEndpoints' },
    component: lazyRouteComponent(() => import('./pages/webhooks/NewEndpointPage.tsx'), 'NewEndpointPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks/endpoints/$id',
    validateSearch: endpointSearch,
    staticData: { needs: 'listWebhookEndpoints' },
    component: lazyRouteComponent(() => import('./pages/webhooks/EndpointPage.tsx'), 'EndpointPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks/deliveries/$id',
    staticData: { needs: 'getWebhookDelivery' },
    component: lazyRouteComponent(() => import('./pages/webhooks/DeliveryPage.tsx'), 'DeliveryPage'),
  }),
] as const

const books = [
  createRoute({
    getParentRoute: () => root,
    path: '/reports',
    validateSearch: reportsSearch,
    staticData: { needs: 'getReport' },
    component: lazyRouteComponent(() => import('./pages/reports/ReportsPage.tsx'), 'ReportsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/providers',
    staticData: { needs: 'listProviders' },
    component: lazyRouteComponent(() => import('./pages/providers/ProvidersPage.tsx'), 'ProvidersPage'),
  }),
] as const

const operation = [
  createRoute({
    getParentRoute: () => root,
    path: '/system',
    staticData: { needs: 'listProjections' },
    component: lazyRouteComponent(() => import('./pages/system/SystemPage.tsx'), 'SystemPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/system/jobs/$id',
    staticData: { needs: 'getJob' },
    component: lazyRouteComponent(() => import('./pages/system/JobPage.tsx'), 'JobPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/audit',
    validateSearch: auditSearch,
    staticData: { needs: 'listAuditTrail' },
    component: lazyRouteComponent(() => import('./pages/audit/AuditPage.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/privacy',
    validateSearch: privacySearch,
    staticData: { needs: 'listErasures' },
    component: lazyRouteComponent(() => import('./pages/privacy/PrivacyPage.tsx'), 'PrivacyPage'),
  }),
] as const

/** Addresses of version 1.0, which are in bookmarks and tickets. */
const former = [
  createRoute({
    getParentRoute: () => root,
    path: '/owners',
    validateSearch: formerCustomerSearch,
    beforeLoad({ search }) {
      const id = customerId(search)
      throw id === null ? redirect({ to: '/customers' }) : redirect({ to: '/customers/$id', params: { id } })
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/read-models',
    beforeLoad() {
      throw redirect({ to: '/system' })
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/jobs/$id',
    beforeLoad({ params }) {
      throw redirect({ to: '/system/jobs/$id', params })
    },
  }),
] as const

export const router = createRouter({
  routeTree: root.addChildren([overview, ...money, ...webhooks, ...books, ...operation, ...former]),
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
