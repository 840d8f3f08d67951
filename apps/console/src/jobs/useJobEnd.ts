import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Job } from '../api/apiTypes.ts'
import { jobQuery } from './jobQueries.ts'

/**
 * Follows a job that was just started.
 * @param started undefined before
 * @param onEnd called once, when it has ended
 * @returns the job as it is now
 */
export function useJobEnd(started: Job | undefined, onEnd: () => void): Job | undefined {
  const { data: job = started } = useQuery({ ...jobQuery(started?.id ?? ''), enabled: started !== undefined })
  const isOver = job !== undefined && job.status !== 'running'
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each end.
  useEffect(() => {
    if (isOver) onEnd()
  }, [isOver])
  return job
}
