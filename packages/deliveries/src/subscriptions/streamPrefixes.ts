// What the worker reads of the log.

export const streamPrefixes: readonly string[] = ['payment-', 'providerEvent-', 'webhookTest-']
