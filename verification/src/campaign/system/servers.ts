// The edge and Redis as supervised processes, where they are installed.
import { join } from 'node:path'
import { findProgram } from '@paylog/testing/findProgram'
import { freePort } from '@paylog/testing/processes'
import { Redis } from 'ioredis'
import { createLink } from './link.ts'
import { type PartLink, pointLinks } from './partLinks.ts'
import type { AppName } from './parts.ts'
import { superviseProcess } from './supervisedProcess.ts'

/** @returns undefined where Redis is not installed */
export async function superviseRedis(
  stack: AsyncDisposableStack,
  { directory, logs }: { readonly directory: string; readonly logs: string },
) {
  const program = await findProgram(['redis-server'], process.env.PATH)
  if (program === undefined) return undefined
  const port = await freePort()
  const use = async <Result>(task: (redis: Redis) => Promise<Result>): Promise<Result> => {
    const redis = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: null, connectTimeout: 1_000 })
    redis.on('error', () => {})
    try {
      await redis.connect()
      return await task(redis)
    } finally {
      redis.disconnect()
    }
  }
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes']
  const server = superviseProcess(stack, 'redis', {
    command: {
      words: [program, ...options, '--maxmemory-policy', 'noeviction', '--dir', directory],
      env: {},
      directory,
    },
    logFile: join(logs, 'redis.log'),
    isReady: () =>
      use((redis) => redis.ping()).then(
        () => true,
        () => false,
      ),
  })
  await server.untilReady()
  return { process: server, port, empty: () => use(async (redis) => void (await redis.flushall())) }
}

/** @param options `links` gets those of the edge @returns undefined where Caddy is not installed */
export async function superviseEdge(
  stack: AsyncDisposableStack,
  options: {
    readonly directory: string
    readonly logs: string
    /** Of the repository. */
    readonly root: string
    readonly links: PartLink[]
    readonly portOf: (name: AppName) => number
  },
) {
  const { directory, logs, root, links, portOf } = options
  const program = await findProgram(['caddy'], process.env.PATH)
  if (program === undefined) return undefined
  const upstreams: Record<string, string> = {}
  for (const [name, targets] of [
    ['command-api', ['command-api-1', 'command-api-2']],
    ['query-api', ['query-api']],
    ['operator-api', ['operator-api']],
  ] as const) {
    const link = await createLink(stack, `edge → ${name}`)
    links.push({ from: 'edge', to: 'apps', link, targets: () => targets.map(portOf) })
    const prefix = name.toUpperCase().replace('-', '_')
    Object.assign(upstreams, { [`${prefix}_HOST`]: '127.0.0.1', [`${prefix}_PORT`]: String(link.port) })
  }
  pointLinks(links)
  const [port, healthPort] = [await freePort(), await freePort()]
  const edge = superviseProcess(stack, 'edge', {
    command: {
      words: [program, 'run', '--config', 'deploy/edge/Caddyfile', '--adapter', 'caddyfile'],
      directory: root,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: directory,
        SITE_ADDRESS: `http://:${port}`,
        EDGE_BIND: '127.0.0.1',
        EDGE_HEALTH_PORT: String(healthPort),
        ...upstreams,
      },
    },
    logFile: join(logs, 'edge.log'),
    isReady: () =>
      fetch(`http://127.0.0.1:${healthPort}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
  })
  await edge.untilReady()
  return { process: edge, url: `http://127.0.0.1:${port}` }
}
