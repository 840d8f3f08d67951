// The names of the providers, which stand in routes, variables, patterns and events. They are part of the contract.

export const providerNames = ['stripe', 'paypal', 'authorize-net', 'sandbox'] as const
export type ProviderName = (typeof providerNames)[number]
