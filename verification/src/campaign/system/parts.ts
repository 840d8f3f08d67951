// The parts of the system in the form of production: what each app runs, and which servers it speaks to.

export type ServerName = 'postgres' | 'event-store' | 'redis' | 'identity'

export type AppPart = {
  readonly script: string
  /** The role that it has in Postgres. */
  readonly role?: 'paylog' | 'paylog_query' | 'paylog_command'
  readonly servers: readonly ServerName[]
  /** The variables that name whom it calls outside: providers, webhook endpoints, the place of checkpoints. */
  readonly outside?: RegExp
}

const commandApi: AppPart = {
  script: 'apps/command-api/src/main.ts',
  role: 'paylog_command',
  servers: ['postgres', 'event-store', 'redis', 'identity'],
  outside: /_API_BASE$/,
}
const worker: AppPart = {
  script: 'apps/worker/src/main.ts',
  role: 'paylog',
  servers: ['postgres', 'event-store', 'redis'],
  outside: /_API_BASE$|^WEBHOOK_\d+_URL$/,
}

/** As in docker-compose.yml, with two of what may be there twice. In start order. */
export const appParts = {
  'event-store': { script: 'apps/embedded-event-store/src/main.ts', role: 'paylog', servers: ['postgres'] },
  identity: { script: 'apps/local/src/identity.ts', servers: [] },
  'command-api-1': commandApi,
  'command-api-2': commandApi,
  'query-api': {
    script: 'apps/query-api/src/main.ts',
    role: 'paylog_query',
    servers: ['postgres', 'redis', 'identity'],
  },
  'operator-api': {
    script: 'apps/api/src/operatorMain.ts',
    role: 'paylog',
    servers: ['postgres', 'event-store', 'redis', 'identity'],
    outside: /_API_BASE$/,
  },
  projector: {
    script: 'apps/projector/src/main.ts',
    role: 'paylog',
    servers: ['postgres', 'event-store', 'redis'],
    outside: /^AUDIT_CHECKPOINT_URL$/,
  },
  'worker-1': worker,
  'worker-2': worker,
} as const satisfies Readonly<Record<string, AppPart>>

export type AppName = keyof typeof appParts
export const appNames = Object.keys(appParts) as AppName[]
