import { createContext } from 'react'

/** Whether the content is in a row that is a link as a whole, which leaves no place for pop-ups of its own. */
export const LinkedRow = createContext(false)
