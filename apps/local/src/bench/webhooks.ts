// `npm run bench -- webhooks`: how fast webhooks go out, how soon after the command, and what a hanging endpoint changes.
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureDelivering } from '@paylog/worker/bench/delivering'
import { type Figure, isMet, line } from '@paylog/worker/bench/figures'
import { startPostgres, startRedis, temporaryDirectory } from '@paylog/worker/bench/servers'
import { measureCommands } from './commandToWebhook.ts'

/**
 * Measures on servers of its own, in less than three minutes. `--json` prints everything as one object at the end.
 * @throws Error for options that make no sense
 */
export async function webhooks(
  args: readonly string[],
  given: NodeJS.ProcessEnv,
  say: (text: string) => void,
): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } })
  const tell = values.json ? () => undefined : say
  await using stack = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))

  const directory = await temporaryDirectory(stack)
  const { databaseUrl, settings } = await startPostgres(stack, join(directory, 'postgres'))
  const redisUrl = await startRedis(stack, { directory, path: given.PATH })
  const queues = redisUrl === undefined ? 'queues on Postgres, for there is no redis-server here' : 'queues on Redis'
  const machine = `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`
  tell(`${machine}; Postgres with ${settings}; ${queues}`)

  const redis = redisUrl === undefined ? {} : { REDIS_URL: redisUrl }
  const figures: Figure[] = []
  const add = (some: readonly Figure[]) => {
    figures.push(...some)
    for (const figure of some) tell(line(figure))
  }
  add(await measureDelivering({ DATABASE_URL: databaseUrl, ...redis }, tell))
  add(await measureCommands(given, redis))
  const met = figures.filter(isMet).length
  if (values.json) {
    const results = figures.map((figure) => ({ ...figure, is_met: isMet(figure) }))
    say(
      JSON.stringify(
        { machine, settings, queues: redisUrl === undefined ? 'postgres' : 'redis', results },
        undefined,
        2,
      ),
    )
  }
  tell(`${met} of ${figures.length} targets met`)
}
