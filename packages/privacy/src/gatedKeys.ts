// Keys that cannot be used before the erasures in the log have been applied to them.
import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '@paylog/domain/errors'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { waitMs } from './cachedKeys.ts'
import type { PersonalDataKeys } from './dataKeys.ts'

const pauseMs = 1_000

/**
 * Applies the erasures, again and again until it succeeds. Until then nothing is opened or sealed: after a restore of an older
 * backup, erased keys exist.
 * @param options `replay` applies them; `signal` ends the attempts
 * @returns `keys`, whose calls fail with `service_unavailable` until then; `opening` resolves when the attempts have ended
 */
export function gatedKeys(
  keys: PersonalDataKeys,
  {
    replay,
    signal,
    log,
  }: { readonly replay: () => Promise<readonly string[]>; readonly signal: AbortSignal; readonly log: Logger },
): { readonly keys: PersonalDataKeys; readonly opening: Promise<void> } {
  const opened = Promise.withResolvers<void>()
  let isOpen = false

  async function open(): Promise<void> {
    const attempts = new AbortController()
    await keepRunning(
      async () => {
        const destroyed = await replay()
        if (destroyed.length > 0) log.warn({ keys: destroyed.length }, 'erased keys existed, and were destroyed again')
        isOpen = true
        opened.resolve()
        attempts.abort()
      },
      {
        signal: AbortSignal.any([signal, attempts.signal]),
        pauseMs,
        onError: (error) =>
          log.warn({ err: error }, 'personal data is not served: the erasures in the log cannot be read, trying again'),
      },
    )
  }

  const afterOpening = async () => {
    if (isOpen) return
    await Promise.race([opened.promise, sleep(waitMs, undefined, { ref: false })])
    if (!isOpen) throw notReplayed()
  }
  return {
    opening: open(),
    keys: {
      ...keys,
      async check() {
        if (!isOpen) throw notReplayed()
        await keys.check()
      },
      async named(names) {
        if (!isOpen) await afterOpening()
        return await keys.named(names)
      },
      async seen(name, email) {
        if (!isOpen) await afterOpening()
        await keys.seen(name, email)
      },
      async find(subject) {
        await afterOpening()
        return await keys.find(subject)
      },
      async load(ids) {
        if (!isOpen) await afterOpening()
        await keys.load(ids)
      },
    },
  }
}

const notReplayed = () =>
  new DomainError(
    'service_unavailable',
    'Personal data is not available: the erasures in the log have not been read yet',
  )
