// The pages in the navigation, in its order.

export const navigation = [
  { to: '/', label: 'Overview' },
  { to: '/payments', label: 'Payments' },
  { to: '/owners', label: 'Customers' },
  { to: '/webhooks', label: 'Webhooks' },
  { to: '/products', label: 'Products' },
  { to: '/read-models', label: 'Read models' },
  { to: '/audit', label: 'Audit' },
] as const
