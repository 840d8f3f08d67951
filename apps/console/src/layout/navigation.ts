// The pages in the navigation, in its order.

export const navigation = [
  { to: '/', label: 'Overview' },
  { to: '/payments', label: 'Payments' },
  { to: '/owners', label: 'Customers' },
  { to: '/products', label: 'Products' },
] as const
