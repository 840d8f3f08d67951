// What this process keeps in memory, to find out what somebody has left behind.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What is in use after everything else was thrown away. */
export function heapMegabytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed / (1 << 20)
}
