// Makes a failing history small: makes its choices plainer, as long as it still fails.
import { type Numbers, subjects } from './choices.ts'

const maxRuns = 400

/**
 * @param numbers the choices of a failing history
 * @param blockSize how many numbers of the script belong together, after the first ones
 * @param fails repeats a history, and whether it still fails
 * @returns choices that still fail, most of them the plainest
 */
export async function shrink(
  numbers: Numbers,
  { first, size: blockSize }: { readonly first: number; readonly size: number },
  fails: (numbers: Numbers) => Promise<boolean>,
): Promise<Numbers> {
  let best = numbers
  let runs = 0
  async function attempt(about: keyof Numbers, changed: readonly number[]): Promise<boolean> {
    const isSame = changed.length === best[about].length && changed.every((each, at) => each === best[about][at])
    if (isSame || runs >= maxRuns) return false
    runs++
    const candidate = { ...best, [about]: changed }
    if (!(await fails(candidate))) return false
    best = candidate
    return true
  }

  /** Makes blocks plain, large ones first. @returns whether one could be changed */
  async function flatten(about: keyof Numbers): Promise<boolean> {
    let isBetter = false
    for (let size = best[about].length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
      for (let at = 0; at < best[about].length; at += size) {
        const isPlain = (_: number, place: number) => place >= at && place < at + size
        const changed = best[about].map((number, place) => (isPlain(number, place) ? 0 : number))
        if (await attempt(about, changed)) isBetter = true
      }
    return isBetter
  }

  async function leaveOut(): Promise<boolean> {
    let isBetter = false
    for (let at = best.script.length - blockSize; at >= first; at -= blockSize)
      if (await attempt('script', best.script.toSpliced(at, blockSize))) isBetter = true
    return isBetter
  }

  for (let isBetter = true; isBetter; ) {
    isBetter = await leaveOut()
    for (const about of subjects.toReversed()) if (await flatten(about)) isBetter = true
  }
  return best
}
