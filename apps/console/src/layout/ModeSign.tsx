// Says in the frame whether real money moves.
import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../api/frameQueries.ts'

const texts = { live: 'Live', test: 'Test', mixed: 'Live and test' }
const explanations = {
  live: 'Real money moves',
  test: 'No real money moves: all providers are in test mode',
  mixed: 'Real money moves at some providers, others are in test mode',
}

/** Nothing before it is known. */
export function ModeSign() {
  const { data } = useQuery(providersQuery)
  const modes = new Set(data?.map(({ mode }) => mode).filter((mode) => mode !== null))
  const [first] = modes
  if (first === undefined) return null
  const mode = modes.size > 1 ? 'mixed' : first
  return (
    <span className="modeSign" data-mode={mode} title={explanations[mode]}>
      {texts[mode]}
    </span>
  )
}
