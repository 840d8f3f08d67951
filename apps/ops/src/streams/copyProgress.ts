// How far a copy is, in words.
import type { CopyProgress } from '@paylog/event-store/copy-log/copyLog'
import { createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'

const titles = { survey: 'Looking', copy: 'Copying', verification: 'Comparing' } as const

export function createCopyProgress(output: CliProgressOutput, now?: () => number): CliProgress<CopyProgress> {
  return createProgress(output, copyProgressText, now)
}

function copyProgressText({ phase, events, of, position }: CopyProgress, elapsedMs: number): string {
  const rate = elapsedMs > 0 ? `, ${Math.round((events * 1_000) / elapsedMs)}/s` : ''
  const total = of === undefined ? '' : ` of ${of}`
  return `${titles[phase]}: ${events}${total} events${rate}, at position ${position.commit}`
}
