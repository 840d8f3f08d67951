// The variables that plant faults into a process.
import { plantsNamed } from './plants.ts'

/** @param names of `plants` @throws for another one */
export function plantEnv(...names: readonly string[]): Readonly<Record<string, string>> {
  const planted = plantsNamed(names)
  return {
    ...Object.assign({}, ...planted.map(({ env }) => env)),
    CAMPAIGN_PLANTS: names.join('\n'),
    NODE_OPTIONS: `--import=${new URL('hook.ts', import.meta.url).href}`,
  }
}
