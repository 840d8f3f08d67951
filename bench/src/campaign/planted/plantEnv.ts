// The variables that plant faults into a process.
import { fileURLToPath } from 'node:url'
import { plantsNamed } from './plants.ts'

/** @param names of `plants` @throws for another one */
export function plantEnv(...names: readonly string[]): Readonly<Record<string, string>> {
  const planted = plantsNamed(names)
  const hook = fileURLToPath(new URL('hook.ts', import.meta.url))
  return {
    ...Object.assign({}, ...planted.map(({ env }) => env)),
    CAMPAIGN_PLANTS: names.join('\n'),
    NODE_OPTIONS: `--import=${hook}`,
  }
}
