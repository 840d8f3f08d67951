// The menu: the pages in their groups. What a page needs is said by its route.
import type { IconName } from '../parts/Icon.tsx'

export const navigation = [
  { name: 'Start', pages: [{ to: '/', label: 'Overview', icon: 'overview' }] },
  {
    name: 'Money',
    pages: [
      { to: '/payments', label: 'Payments', icon: 'payments' },
      { to: '/refunds', label: 'Refunds', icon: 'refunds' },
      { to: '/disputes', label: 'Disputes', icon: 'disputes' },
      { to: '/customers', label: 'Customers', icon: 'customers' },
      { to: '/products', label: 'Products', icon: 'products' },
    ],
  },
  { name: 'Integration', pages: [{ to: '/webhooks', label: 'Webhooks', icon: 'webhooks' }] },
  {
    name: 'Books',
    pages: [
      { to: '/reports', label: 'Reports', icon: 'reports' },
      { to: '/providers', label: 'Providers', icon: 'providers' },
    ],
  },
  {
    name: 'Operation',
    pages: [
      { to: '/system', label: 'System', icon: 'system' },
      { to: '/audit', label: 'Audit', icon: 'audit' },
      { to: '/privacy', label: 'Privacy', icon: 'privacy' },
    ],
  },
] as const satisfies readonly {
  readonly name: string
  readonly pages: readonly { readonly to: string; readonly label: string; readonly icon: IconName }[]
}[]

export type MenuPage = (typeof navigation)[number]['pages'][number]
