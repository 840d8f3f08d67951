// Leads to a job that was just started.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Job } from '../api/apiTypes.ts'

/** @param props `children` says what has started */
export function JobLink({ job, children }: { readonly job: Job; readonly children: ReactNode }) {
  return (
    <p>
      {children}{' '}
      <Link to="/system/jobs/$id" params={{ id: job.id }}>
        Follow the job
      </Link>
    </p>
  )
}
